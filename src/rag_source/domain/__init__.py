"""The words and rules of the product: values, errors, ports, text folding. Standard library only, no I/O."""
