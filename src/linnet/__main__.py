"""`python -m linnet` is `linnet`."""

from linnet.cli.entry import main

if __name__ == "__main__":
    main()
