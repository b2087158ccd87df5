"""What surrounds the jobs of a run: logs, locks, the code they depend on, and how long they will take."""
