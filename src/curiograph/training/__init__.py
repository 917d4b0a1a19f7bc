"""Training of agents: networks and learners in torch, checkpoints, and the training loop."""
