"""Every limit of the server, with its value and its reason, in one file (rule R14).

A plain value that is passed to every part that needs a limit. Tests and operators may create another.
It does not depend on the parts that use it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one server."""

    # Documents and their subscribers (hub)
    ring_bytes: int = 4 * MIB
    """Memory of the changes kept for each document, so that a client that reconnects gets what it
    missed."""
    frame_bytes: int = MIB
    """Approximate size of one `changes` message; a single larger change is sent alone."""
    backlog_bytes: int = 2 * MIB
    """A client that is further behind than this gets a snapshot instead of the changes."""
    unacked_bytes: int = 4 * MIB
    """Most unacknowledged bytes of a client that sends acks; then it must catch up."""
    window_items: int = 1_000
    """Most items of a snapshot or a page, whatever the client requests."""
    window_bytes: int = 2 * MIB
    """Most bytes of the items of a snapshot or a page; one item is sent in any case."""
    lobby_every_s: float = 0.25
    """Least time between two lobby updates: every client has it, and every session changes it."""
    lobby_bytes_per_s: int = 16 * MIB
    """Most lobby bytes for all clients together; above it the lobby is sent less often."""
    lobby_per_client_s: float = 0.002
    """What each client adds to the time between two lobby updates: a second for 500 clients."""
    preview_chars: int = 64 * KIB
    """Of one field of an item (a tool's result, say): two screens of it; the rest on request."""
    secondary_chars: int = 8 * KIB
    """Of one field of a turn or a settled request, which repeat what an item has."""
    turns_shown: int = 100
    """Turns, settled requests, … are shown from the last full block of this size on: as many as a
    window of items can have, and never more than twice that."""
    settled_shown: int = 100
    tasks_shown: int = 200
    background_shown: int = 200
    files_shown: int = 500
    requests_analyzed: int = 100
    """Open requests of a session whose "always" choices are computed; the others can only be
    allowed once or denied."""
    analysis_s: float = 0.5
    """How long a session's new requests wait for their choices."""
    undo_s: float = 5.0
    """How long a held denial can be undone: enough to notice a wrong key."""
    delete_undo_s: float = 10.0
    """How long the deletion of sessions can be undone."""
    recording_bytes: int = 64 * MIB
    """Size of a recording that can be imported; it is parsed in memory."""
    tags: int = 12
    """Tags of one session: a row of the list shows all of them."""
    tag_chars: int = 32
    status_every_s: float = 1.0
    """How often a client that does not view a document gets its status, or an empty step."""
    documents_per_client: int = 64

    # Sessions (registry)
    sessions_live: int = 200
    """Running CLI processes; the benchmark's figure for two cores."""
    transcripts_loaded: int = 64
    """Transcripts in memory of sessions that neither run nor are viewed."""
    idle_s: float = 1_800.0
    """A session that is idle for this time while no client views it is ended; it can be resumed."""
    cull_every_s: float = 30.0
    tick_every_s: float = 5.0
    """How often the server checks whether a held queue is due."""
    reset_jitter_s: tuple[float, float] = (5.0, 45.0)
    """How long after a usage limit has reset a session continues, so that not all do it at once."""
    unstored_bytes: int = 2 * MIB
    """How far a CLI may be ahead of the store; above it its pipe is not read. Three batches, so
    that reading and storing overlap; 400 MiB if the disk is full for all sessions."""
    appends_per_s: float = 400.0
    """Appends of all sessions whose output can wait; above it the sessions take turns. A session
    that writes ten lines a second is not delayed up to 40 such sessions, and by half a second with
    200."""
    batch_events: int = 2_000
    """Events in one append: some milliseconds of the writer thread."""
    checkpoint_events: int = 4_000
    """A checkpoint is stored after this number of events, which take about 0.1 s to fold."""
    checkpoint_share: int = 8
    """… but not before an eighth of the log is new, or checkpoints would cost more than the log."""
    checkpoint_last_events: int = 500
    """New events that justify a last checkpoint at unloading: about 10 ms of folding."""
    store_retry_s: float = 1.0
    """How often a failed store is retried, if it does not report that it works again."""
    restarts: int = 3
    """Restarts of a session that crashes, within `restart_window_s`."""
    restart_window_s: float = 600.0
    restart_delays_s: tuple[float, ...] = (0.5, 2.0, 8.0)
    """How long to wait before the first, second, … restart."""
    stop_s: float = 30.0
    """How long all sessions together may take to end when the server stops."""

    # Notices
    notice_delay_s: float = 2.0
    """A request that a rule answers within moments, or that is withdrawn, needs no notice."""
    notice_viewed_delay_s: float = 15.0
    """While a client displays the session, its user may answer there."""

    # Terminals
    terminals: int = 16
    """Shells that run at the same time."""
    terminals_per_session: int = 4
    terminal_scrollback_bytes: int = 256 * KIB
    """The last output of each terminal, which a client gets after a reload: some 2,500 lines."""

    # Input of clients
    prompt_bytes: int = MIB
    prompts_held: int = 100
    attachments: int = 20
    title_chars: int = 200
    draft_bytes: int = 64 * KIB
    comments: int = 500
    """Review comments of one session."""
    comment_bytes: int = 8 * KIB
    comment_code_bytes: int = 16 * KIB
    """The quoted lines of one comment."""
    answer_bytes: int = 256 * KIB
    """The message, the edited input, the answers or the form of one decision."""
    intents_in_flight: int = 64
    """Unfinished intents of one client."""

    # Sockets and HTTP
    hello_s: float = 5.0
    """How long a socket may be open before it is authenticated."""
    unauthenticated_sockets: int = 64
    unauthenticated_connections: int = 256
    """HTTP connections without a valid token; never more than a quarter of the file handles.
    At least five times what is accepted at once, so that each is read before it may be closed."""
    unauthenticated_s: float = 300.0
    """How long such a connection may stay open, whatever it does."""
    progress_s: float = 5.0
    """How often the progress of an unread response is checked."""
    answer_bytes_per_s: int = KIB
    """The rate at which a client must read it; a bad mobile network is ten times as fast."""
    target_bytes: int = 8 * KIB
    """Path and query of a request."""
    sockets: int = 1_000
    """Clients of /ws and /bridge together."""
    sockets_for_owners: int = 16
    """Those of them that are reserved for owners."""
    sockets_per_device: int = 32
    """A browser has one for each open tab."""
    unread_bytes_per_device: int = 32 * MIB
    """Most unread bytes on all sockets of one device; above it the fullest socket is closed."""
    unread_pong_bytes: int = MIB
    """Unread output at which a client that still sends pings is disconnected."""
    message_debt_s: float = 2.0
    """How far a client may be ahead of `messages_per_s` with pings before it is disconnected."""
    message_bytes: int = 2 * MIB
    fragments: int = 1_000
    """Most fragments of one message; each costs as much as a message."""
    header_bytes: int = 16 * KIB
    flush_s: float = 0.002
    """Shortest time between two rounds of frames. The first change is sent at once; changes are
    merged only while a client, the event loop or the store is behind."""
    send_buffer_bytes: int = 4 * MIB
    """Most bytes that are queued for one socket before no more is drained for it."""
    slow_s: float = 60.0
    """How long a client may read nothing at all before its socket is closed."""
    ping_s: float = 20.0
    dead_s: float = 45.0
    messages_per_s: float = 100.0
    """Messages and pings of one socket."""
    device_messages_per_s: float = 200.0
    """Messages of all sockets of a device whose role is not owner, and additional costs:
    `socket_cost` for each new socket, and one for each `answer_unit_bytes` of responses."""
    socket_cost: float = 10.0
    answer_unit_bytes: int = 64 * KIB
    upload_bytes: int = 32 * MIB
    image_bytes: int = 5 * MIB
    """Of one image; the API accepts no larger one."""
    uploads_bytes: int = 512 * MIB
    file_bytes: int = 8 * MIB
    searches: int = 8
    """Searches at the same time, one for each device."""
    search_s: float = 5.0
    """How long one search may run in the store."""
    exports: int = 16
    exports_per_device: int = 4
    export_send_s: float = 60.0
    """How long a client may take to read one piece of an export, a quarter of a megabyte."""
    code_s: float = 60.0
    """How long a one-time code works."""
    launch_code_s: float = 600.0
    """How long a link works that `fairlead serve` or `fairlead link` prints."""
    launch_page_s: float = 60.0
    """After this time the page that the browser was opened with is removed."""
    join_s: float = 120.0
    """How long a device may wait for confirmation: time to compare two screens."""
    joiners: int = 8
    """Devices that wait for confirmation at the same time."""
    token_idle_s: float = 30 * 86_400.0
    """A device that was not seen for this time must pair again."""
    tries_per_minute: int = 60
