"""What is measured of stacks: calibration, benchmarks, validation."""
