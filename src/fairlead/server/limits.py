"""Every limit of the server, with its number and its reason, in one file (rule R14).

A plain value: whoever needs a limit is given a `Limits`. Tests and operators may make another.
Knows nothing of who obeys it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of everything there may be."""

    # Documents and those who follow them (hub)
    ring_bytes: int = 4 * MIB
    """Changes kept for each document, so that a client that comes back gets what it missed."""
    frame_bytes: int = MIB
    """About how much one `changes` message holds; a single larger change goes alone."""
    backlog_bytes: int = 2 * MIB
    """Somebody who is further behind than this gets a snapshot instead of the changes."""
    unacked_bytes: int = 4 * MIB
    """What a client that sends acks may leave without one; after that it has to catch up."""
    window_items: int = 1_000
    """Items of a snapshot or a page, whatever the client asks for."""
    window_bytes: int = 2 * MIB
    """Bytes of the items of a snapshot or a page; one item goes in any case."""
    lobby_every_s: float = 0.25
    """How often the lobby is told at most: every client has it, and every session changes it."""
    lobby_bytes_per_s: int = 16 * MIB
    """What the lobby may take for all clients together; beyond that it is told less often."""
    preview_letters: int = 64 * KIB
    """Of one field of an item (a tool's result, say): two screens of it; the whole on demand."""
    beside_letters: int = 8 * KIB
    """Of one field of a turn or a settled request, which repeat what an item has."""
    turns_shown: int = 100
    """Turns, settled requests, … are shown from the last full block of so many on: as many as a
    window of items can have, and never more than twice that."""
    settled_shown: int = 100
    tasks_shown: int = 200
    background_shown: int = 200
    files_shown: int = 500
    status_every_s: float = 1.0
    """How often somebody who does not look is told the status, and an empty step is sent."""
    documents_per_client: int = 64

    # Sessions (registry)
    sessions_live: int = 200
    """Running CLI processes; the benchmark's figure for two cores."""
    transcripts_loaded: int = 64
    """Transcripts kept in memory of sessions that neither run nor are looked at."""
    idle_s: float = 1_800.0
    """A session that does nothing for so long, with nobody looking, is ended; it can resume."""
    cull_every_s: float = 30.0
    unstored_bytes: int = 2 * MIB
    """What a CLI may be ahead of the store; then its pipe is not read until there is room. Three
    batches, so that reading and storing overlap; 400 MiB if all sessions meet a full disk."""
    batch_events: int = 2_000
    """Events in one append: some milliseconds of the writer thread."""
    checkpoint_events: int = 4_000
    """A session's state is kept after so many events: folding them takes about 0.1 s."""
    checkpoint_share: int = 8
    """… but not before an eighth of its log is new, or keeping would cost more than storing."""
    checkpoint_last_events: int = 500
    """What makes a last one worth it when a session leaves the memory: about 10 ms of folding."""
    store_retry_s: float = 1.0
    """How often a store that failed is tried again, if it does not say that it is well."""
    restarts: int = 3
    """Restarts of a session that crashes, within `restart_window_s`."""
    restart_window_s: float = 600.0
    restart_delays_s: tuple[float, ...] = (0.5, 2.0, 8.0)
    """How long to wait before the first, second, … restart."""
    stop_s: float = 30.0
    """How long all sessions together may take to end when the server does."""

    # What a client may send
    prompt_bytes: int = MIB
    prompts_held: int = 100
    attachments: int = 20
    title_chars: int = 200
    draft_bytes: int = 64 * KIB
    answer_bytes: int = 256 * KIB
    """The message, the edited input, the answers or the form of one decision."""
    intents_in_flight: int = 64
    """Unfinished intents of one client."""

    # Sockets and HTTP
    hello_s: float = 5.0
    """How long a socket may be open before it says who it is."""
    unauthenticated_sockets: int = 64
    sockets: int = 1_000
    message_bytes: int = 2 * MIB
    fragments: int = 1_000
    """Pieces of one message; each costs as much as a message does."""
    header_bytes: int = 16 * KIB
    flush_s: float = 0.016
    """How long changes are collected before they are sent: one frame of a screen."""
    send_buffer_bytes: int = 4 * MIB
    """What one socket may have waiting to be sent before nothing more is drained for it."""
    slow_s: float = 60.0
    """How long a socket may take nothing at all before it is closed."""
    ping_s: float = 20.0
    dead_s: float = 45.0
    messages_per_s: float = 100.0
    upload_bytes: int = 32 * MIB
    image_bytes: int = 5 * MIB
    """Of one image; the API takes no larger one."""
    uploads_bytes: int = 512 * MIB
    file_bytes: int = 8 * MIB
    code_s: float = 60.0
    """Life of a one-time code."""
    join_s: float = 120.0
    """How long a device may ask to join: time to look from one screen to the other."""
    joiners: int = 8
    """Devices that ask to join at the same time."""
    token_idle_s: float = 30 * 86_400.0
    """A device that was not seen for so long has to pair again."""
    tries_per_minute: int = 60
