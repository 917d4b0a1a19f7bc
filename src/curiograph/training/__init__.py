"""Training of agents: deep Q-learning, value learning, and the training loop with its checkpoints."""
