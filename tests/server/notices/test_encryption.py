"""Messages are encrypted as RFC 8291 says: its own example, and the browser's side of the kit."""

from __future__ import annotations

import base64
import os

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from fairlead.server.notices.push.encryption import LARGEST, PADDED, encrypt, public_bytes
from tests.server.notices.push_service import Browser

# RFC 8291, section 5 and appendix A.
PLAIN = b"When I grow up, I want to be a watermelon"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
BROWSER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
ONE_TIME = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6T"
    "lzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4"
    "a-fN"
)


def plain(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_example_of_the_rfc_gives_its_body() -> None:
    one_time = ec.derive_private_key(int.from_bytes(plain(ONE_TIME), "big"), ec.SECP256R1())
    body = encrypt(
        PLAIN, plain(BROWSER), plain(AUTH), one_time=one_time, salt=plain(SALT), padded=0
    )
    assert body == plain(BODY)


@pytest.mark.parametrize("length", [2, PADDED - 1, PADDED, PADDED + 1, LARGEST])
def test_a_browser_reads_what_was_encrypted_for_it(length: int) -> None:
    browser = Browser()
    text = b'"' + b"x" * (length - 2) + b'"'
    one_time = ec.generate_private_key(ec.SECP256R1())
    body = encrypt(text, browser.public, browser.auth, one_time=one_time, salt=os.urandom(16))
    assert browser.read(body) == "x" * (length - 2)
    assert len(body) <= 4096


def test_short_messages_have_one_length() -> None:
    browser = Browser()
    sizes = {
        len(
            encrypt(
                text,
                browser.public,
                browser.auth,
                one_time=ec.generate_private_key(ec.SECP256R1()),
                salt=os.urandom(16),
            )
        )
        for text in (b"1", b'"a longer message"', b'"' + b"y" * 500 + b'"')
    }
    assert len(sizes) == 1


def test_a_message_that_is_too_long_and_a_wrong_key_are_refused() -> None:
    one_time, salt = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    browser = Browser()
    with pytest.raises(ValueError, match="at most"):
        encrypt(bytes(LARGEST + 1), browser.public, browser.auth, one_time=one_time, salt=salt)
    with pytest.raises(ValueError):
        encrypt(b"x", b"\x04" + bytes(64), browser.auth, one_time=one_time, salt=salt)
    assert len(public_bytes(one_time.public_key())) == 65
