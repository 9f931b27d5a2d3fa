#!/usr/bin/python3
"""Standard streams that other programs have set not to block."""

import fcntl
import os
import struct
import subprocess
import termios
import threading

import support
from support import PROGRAM, ProgramTest, noisy_words, wav_bytes


def not_blocking(descriptor):
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_NONBLOCK)


def waiting_bytes(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


class NotBlocking(ProgramTest):
    def piped(self, text, *arguments, stdin=False, stdout=False):
        """Standard output of the program, which must succeed. Its input comes in pieces, each only
        after the one before was read; its output is read late and slowly."""
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        if stdin:
            not_blocking(in_read)
        if stdout:
            not_blocking(out_write)
        program = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=in_read,
                                   stdout=out_write, stderr=subprocess.PIPE)
        os.close(in_read)
        os.close(out_write)

        def feed():
            try:
                with os.fdopen(in_write, "wb", buffering=0) as pipe:
                    for begin in range(0, len(text), 20000):
                        pipe.write(text[begin:begin + 20000])
                        while waiting_bytes(pipe) > 0 and program.poll() is None:
                            wait.wait(0.001)
                        wait.wait(0.01)
            except BrokenPipeError:
                pass  # the program ended; its exit code says why

        wait = threading.Event()
        feeder = threading.Thread(target=feed)
        feeder.start()
        wait.wait(0.3)
        with os.fdopen(out_read, "rb", buffering=0) as pipe:
            out = b"".join(iter(lambda: pipe.read(1 << 12), b""))
        feeder.join()
        said = program.stderr.read()
        program.stderr.close()
        self.assertEqual(program.wait(), 0, said)
        return out

    def every_way(self, text, *arguments):
        expected = self.piped(text, *arguments)
        self.assertTrue(expected)
        for ways in ({"stdin": True}, {"stdout": True}, {"stdin": True, "stdout": True}):
            with self.subTest(**ways):
                self.assertEqual(self.piped(text, *arguments, **ways), expected)

    def test_stream(self):
        self.model()
        self.every_way(b"1.25,2.5\n" * 20000, "stream", "track.kalmia")

    def test_csv_from_standard_input(self):
        self.model()
        text = (self.folder / "track.csv").read_bytes()
        self.assertEqual(self.piped(text, "smooth", "track.kalmia", "-", stdin=True),
                         self.piped(text, "smooth", "track.kalmia", "-"))

    def test_sound_from_standard_input(self):
        sound = wav_bytes(noisy_words(seconds=3)[0])
        self.assertEqual(self.piped(sound, "denoise", "-", "-q", "-o", "-", stdin=True),
                         self.piped(sound, "denoise", "-", "-q", "-o", "-"))


if __name__ == "__main__":
    support.main()
