"""The page without a server: everything that needs no engine, as plain files for a disk or any static host."""
