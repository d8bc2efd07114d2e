"""The words and rules of the product: values, errors, ports, text. No I/O, no dependency."""
