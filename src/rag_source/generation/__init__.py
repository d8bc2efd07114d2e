"""From evidence to a checked answer: prompt, stream, support, quotes, verdicts."""
