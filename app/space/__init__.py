"""The folders to push to Hugging Face Spaces: written, and checked as the Hub would."""
