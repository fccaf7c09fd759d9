"""What docs/python.md does not show: mistakes, foreign text, programs that hang. Run in an empty folder."""

import html
import os
import re
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import agon_contest
from agon_contest import AgonError, AgonTimeout, Page, play, program, show, sprt, verify

BOTS = ["builtin:greedy", "builtin:random"]


class Module(unittest.TestCase):
    def test_an_altered_replay_is_not_verified_and_a_damaged_one_is_an_error(self):
        good = play("cultist-wars", BOTS, seed=7, replay="good.replay").replay.read_bytes()
        self.assertTrue(verify("good.replay"))
        Path("cut.replay").write_bytes(good[: len(good) * 2 // 3])
        cut = verify("cut.replay")
        self.assertFalse(cut)
        self.assertEqual(cut.finding, "cut off")
        Path("none.replay").write_bytes(b"not a replay")
        with self.assertRaises(AgonError) as raised:
            verify("none.replay")
        self.assertEqual(raised.exception.code, 2)
        self.assertIn("none.replay", str(raised.exception))

    def test_nothing_is_taken_for_an_option_or_by_a_shell(self):
        for bot in ["--help", "$(touch run)", "cmd:touch 'no such' ; touch run"]:
            with self.subTest(bot), self.assertRaises(AgonError):
                match = play("cultist-wars", [bot, "builtin:random"])
                # It starts as a program with odd arguments, and does not play.
                raise AgonError(match.seats[0].faults[0], 1)
        self.assertFalse(Path("run").exists())

    def test_a_bot_that_fails_is_a_fault_of_its_seat(self):
        Path("bad.py").write_text("import sys\nsys.exit('no idea')\n")
        match = play("cultist-wars", ["bad.py", "builtin:random"], seed=1)
        self.assertEqual((match.winner, match.ranks), (2, (2, 1)))
        self.assertIn("no idea", str(match.json["seats"][0]["faults"]))
        self.assertTrue(match.seats[0].faults)
        self.assertEqual(match.drawing(1).splitlines()[-1], "before turn 1, player 1")
        with self.assertRaises(AgonError):
            play("cultist-wars", ["bad.py", "builtin:random"], options=["--no-replay"]).drawing()

    def test_a_match_that_takes_too_long_ends_with_its_bots(self):
        Path("slow.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
        # As long as it takes the bot to start.
        for seconds in [3, 9, 27]:
            with self.assertRaises(AgonTimeout):
                play("cultist-wars", ["slow.py", "builtin:random"], options=["--no-timeouts"], timeout=seconds)
            if Path("pid").exists():
                break
        pid = int(Path("pid").read_text())
        for _ in range(1000):
            if not os.path.exists(f"/proc/{pid}"):
                return
            time.sleep(0.02)
        self.fail("the bot outlives its match")

    def test_a_series_reports_and_can_be_stopped_from_its_events(self):
        events = []
        same = sprt("cultist-wars", "builtin:greedy", "builtin:greedy", each=events.append)
        self.assertEqual((same.decision, same.games, same.elo, bool(same)), ("equal", 0, None, False))
        self.assertEqual(events[-1], same.json)
        events.clear()
        with self.assertRaises(AgonError):
            sprt("cultist-wars", "no-such-bot.py", "builtin:greedy", each=events.append)
        self.assertEqual(events, [], "why it failed is no event")

        def stop(event):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            sprt("cultist-wars", "builtin:hunter", "builtin:hunter?nodes=9999", elo1=1, each=stop)

    def test_a_page_is_a_frame_that_holds_foreign_text(self):
        page = show(play("cultist-wars", BOTS, seed=7, options=["--name", "1=\"><script>alert(1)</script>"]))
        shown = page._repr_html_()
        frame = re.fullmatch(r'<iframe sandbox="allow-scripts allow-downloads" style="[^"]*" srcdoc="([^"<>]*)"></iframe>', shown)
        self.assertEqual(html.unescape(frame[1]), page.html)
        self.assertEqual(re.findall(r"(?:src|href)=[\"']?(?:https?:|/)", page.html), [])
        self.assertNotIn("<script>alert", page.html)
        with mock.patch.object(agon_contest, "_EMBEDDED", 1000):
            self.assertNotIn("iframe", page._repr_html_())
        self.assertEqual(Page("é").save("page.html").read_text(encoding="utf-8"), "é")

    def test_a_program_that_is_not_there_is_said(self):
        with mock.patch.dict(os.environ, {"AGON": "/no/such/agon"}), self.assertRaisesRegex(AgonError, "/no/such/agon"):
            program()


if __name__ == "__main__":
    print(sys.version.split()[0], program())
    unittest.main()
