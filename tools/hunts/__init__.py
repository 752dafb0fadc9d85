"""The worst scenarios of all algorithms, replayed from their files (`make hunt`)."""
