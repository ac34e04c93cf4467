"""`python -m linnet` is `linnet`."""

from linnet.cli.main import main

if __name__ == "__main__":
    main()
