"""HTTP clients of the model servers, all of which speak llama.cpp's contract."""
