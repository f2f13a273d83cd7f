"""HTML files without a server: scripts as one (`bundle`), a run (`run_page`), the reference (`reference_page`)."""
