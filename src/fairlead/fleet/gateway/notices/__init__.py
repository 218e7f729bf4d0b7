"""Notices of all machines, for the devices and channels of the fleet."""
