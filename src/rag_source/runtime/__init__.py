"""Model servers as supervised child processes, and the programs those children run."""
