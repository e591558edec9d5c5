"""Keras 3 on any backend: trainings by `fit`, `train_on_batch`, own steps and `tf.GradientTape` loops."""
