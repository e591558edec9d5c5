"""A data set at rest: files become parts (columns of one length), and what is measured of them plain facts."""
