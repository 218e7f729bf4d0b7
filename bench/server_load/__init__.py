"""One server with many sessions and sockets: its delays, CPU time and memory.

`python -m bench.server_load` starts a real `fairlead serve`. Everything around it runs in other
processes: the agents (`agents`), the clients that only follow (`viewers`), and those that act and
measure times (`active_client`, in the benchmark's own process).
"""
