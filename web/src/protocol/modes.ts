// Generated from src/fairlead/wire/modes.py by `python -m fairlead.server.protocol.typescript`. Do not edit.

export const MODES = ["plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"] as const;

export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
