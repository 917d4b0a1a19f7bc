"""Prediction of human choices: protocol, components, fitting, results."""
