"""When there is a notice, what it says, and when it is sent. Pure."""
