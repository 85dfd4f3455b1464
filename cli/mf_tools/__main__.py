"""`python -m mf_tools`."""

try:
    from mf_tools import main

    main()
except KeyboardInterrupt:
    raise SystemExit(130) from None
