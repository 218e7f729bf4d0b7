"""Old and new code in alternating rounds: `python -m bench.compare REF`.

On a shared machine an absolute figure says little: the same code differs by a third from one
hour to the next. So both versions run in one process tree, one after the other, round by round,
and each round gives one ratio. The report has the median ratio and its spread.

Files: `trees` the two source trees, `scenarios` what is measured, `one_session` a server with a
single session (delay and throughput), `metronome` the CLI of that scenario, `ratios` the report.
"""
