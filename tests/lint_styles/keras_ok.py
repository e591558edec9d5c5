import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models, optimizers
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
X = np.load('x.npy'); y = np.load('y.npy')
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
sc = StandardScaler()
X_train = sc.fit_transform(X_train); X_test = sc.transform(X_test)
model = models.Sequential()
model.add(layers.Input((10,)))
model.add(layers.Dense(64, activation='relu'))
model.add(layers.Dropout(0.3))
model.add(layers.Dense(3, activation='softmax'))
model.compile(optimizer=optimizers.Adam(learning_rate=1e-3), loss='sparse_categorical_crossentropy', metrics=['accuracy'])
model.fit(X_train, y_train, epochs=10, batch_size=32, validation_data=(X_test, y_test))
inp = tf.keras.Input((10,))
h = layers.Dense(32, activation='relu')(inp)
out = layers.Dense(3)(h)
m2 = tf.keras.Model(inp, out)
m2.compile('adam', loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m2.fit(X_train, y_train, validation_split=0.1)
