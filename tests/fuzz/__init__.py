"""Wrong calls of everything public: found by itself, with rules for what a call may do (`make fuzz`)."""
