"""What every tab needs: payloads, our scripts and styles, components that a script fills, work in other processes."""
