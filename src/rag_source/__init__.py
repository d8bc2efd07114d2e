"""Answers over a folder of documents, every claim checked against the words it rests on."""
