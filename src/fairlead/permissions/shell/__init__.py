"""Shell commands: parsed with the bash grammar and judged by what they read, write and run."""
