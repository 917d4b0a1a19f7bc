"""Learning: networks in torch, learners, checkpoints, and the loop that runs them."""
