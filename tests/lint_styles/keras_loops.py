"""Healthy loops over tapes: adversarial, variational, with a target network, a teacher, frozen parts, scaling."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

x = np.random.randn(256, 16).astype("float32")
y = np.random.randint(0, 3, 256)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256).batch(32)


def mlp(width, activation=None):
    return keras.Sequential([layers.Dense(32, "relu"), layers.Dropout(0.2), layers.Dense(width, activation)])


def adversarial():
    generator, critic = mlp(16), mlp(1)
    first, second = keras.optimizers.Adam(1e-4), keras.optimizers.Adam(1e-4)
    loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
    for real, _ in data:
        noise = tf.random.normal((32, 8))
        with tf.GradientTape() as one, tf.GradientTape() as other:
            fake = generator(noise, training=True)
            true, false = critic(real, training=True), critic(fake, training=True)
            g_loss = loss_fn(tf.ones_like(false), false)
            c_loss = loss_fn(tf.ones_like(true), true) + loss_fn(tf.zeros_like(false), false)
        first.apply_gradients(zip(one.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
        second.apply_gradients(zip(other.gradient(c_loss, critic.trainable_variables), critic.trainable_variables))


class Variational(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = mlp(8), mlp(16)
        self.total = keras.metrics.Mean(name="loss")

    def train_step(self, batch):
        inputs, _ = batch
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(inputs, training=True), 2, axis=1)
            code = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            error = tf.reduce_sum(tf.square(inputs - self.decoder(code, training=True)), axis=1)
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            loss = tf.reduce_mean(error + kl)
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.total.update_state(loss)
        return {"loss": self.total.result()}


class Own(keras.Model):
    """Its `call` trains unless told otherwise."""

    def __init__(self):
        super().__init__()
        self.first, self.drop, self.out = layers.Dense(8, "relu"), layers.Dropout(0.5), layers.Dense(3)

    def call(self, inputs, training=True):
        return self.out(self.drop(self.first(inputs), training=training))


def own_default():
    model, optimizer = Own(), keras.optimizers.SGD(0.01)
    for a, b in data:
        with tf.GradientTape() as tape:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(b, model(a))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)


def value_network():
    online, target = mlp(4), mlp(4)
    target.set_weights(online.get_weights())
    optimizer = keras.optimizers.Adam(1e-3)
    for state, action in data:
        best = tf.reduce_max(target(state), axis=1)
        with tf.GradientTape() as tape:
            chosen = tf.gather(online(state, training=True), action, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(best - chosen))
        gradients = tape.gradient(loss, online.trainable_variables)
        optimizer.apply_gradients(zip(gradients, online.trainable_variables))


def distilled():
    teacher, student = keras.models.load_model("teacher.keras"), mlp(3)
    optimizer = keras.optimizers.Adam(1e-3)
    for a, _ in data:
        soft = tf.nn.softmax(teacher(a))
        with tf.GradientTape() as tape:
            loss = keras.losses.KLDivergence()(soft, tf.nn.softmax(student(a, training=True)))
        gradients = tape.gradient(loss, student.trainable_variables)
        optimizer.apply_gradients(zip(gradients, student.trainable_variables))


def frozen_base():
    base, head = mlp(8), layers.Dense(3)
    base.trainable = False
    optimizer = keras.optimizers.Adam(1e-3)
    for a, b in data:
        with tf.GradientTape() as tape:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(b, head(base(a)))
        gradients = tape.gradient(loss, head.trainable_variables)
        optimizer.apply_gradients(zip(gradients, head.trainable_variables))


def half_precision():
    model = keras.Sequential([layers.Dense(32, "relu"), layers.Dense(1)])
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1e-3))
    for a, b in data:
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(model(a, training=True)[:, 0] - tf.cast(b, tf.float32)))
            loss = optimizer.scale_loss(error)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)


def both_parts():
    encoder, decoder = mlp(4), mlp(16)
    optimizer = keras.optimizers.Adam(1e-3)
    variables = encoder.trainable_variables + decoder.trainable_variables
    for a, _ in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(decoder(encoder(a, training=True), training=True) - a))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


def saliency(model, image):
    with tf.GradientTape() as tape:
        tape.watch(image)
        score = tf.reduce_max(model(image))
    return tape.gradient(score, image)


adversarial()
vae = Variational()
vae.compile(optimizer="adam")
vae.fit(data, epochs=3)
own_default()
value_network()
distilled()
frozen_base()
half_precision()
both_parts()
