"""The messages between server and clients as typed values, and their TypeScript. No behavior."""
