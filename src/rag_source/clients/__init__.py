"""HTTP clients of the model servers. They speak llama.cpp's contract, whoever started the server."""
