"""The engine on the machines of a Ray cluster, behind Ray Serve: replicas that work for one run each, and a desk."""
