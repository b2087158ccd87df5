"""The router over HTTP: `frugalmct serve`, described in docs/serve.md (extra `serve`: FastAPI, uvicorn)."""
