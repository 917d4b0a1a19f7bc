"""What people do on graphs: datasets, trajectories, prediction of their choices, tests of their motives."""
