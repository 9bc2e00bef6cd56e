"""What a test expects, and how often it was not so."""

failures = 0


def expect(holds, what):
    global failures
    if not holds:
        failures += 1
        print("not so: " + what)


def exit_code():
    return 1 if failures else 0
