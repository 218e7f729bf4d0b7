"""Scripts that define the replies of the model, and the player that executes them."""
