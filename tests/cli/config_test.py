#!/usr/bin/python3
"""Configuration files of kalmia fit."""

import json

import support
from support import ProgramTest

GOOD = """output = "model.kalmia"

[data]
file = "track.csv"
measure = ["y1", "y2"]

[model]
prior = "constant-velocity"
noise = [0.3, 0.3]
hidden = 8
decoder = [8]

[train]
updates = 20
learning_rate = 1e-3
"""


class Configuration(ProgramTest):
    def write(self, text, name="fit.toml"):
        (self.folder / name).write_text(text)

    def refuse(self, text, *fragments):
        self.write(text)
        return self.fail_with(2, ["fit", "fit.toml"], fragments)

    def test_fits_as_the_options_do(self):
        self.track()
        self.write(GOOD)
        self.succeed("fit", "fit.toml")
        self.succeed("fit", "track.csv", "--measure", "y1,y2", "--prior", "constant-velocity",
                     "--noise", "0.3,0.3", "--hidden", "8", "--decoder", "8", "--updates", "20",
                     "--learning-rate", "0.001", "-o", "other.kalmia")
        self.assertEqual((self.folder / "model.kalmia").read_bytes(),
                         (self.folder / "other.kalmia").read_bytes())

    def test_options_override_the_file(self):
        self.track()
        self.write(GOOD)
        self.succeed("fit", "fit.toml", "--measure", "y2", "--noise", "0.5", "-o", "own.kalmia")
        self.assertFalse((self.folder / "model.kalmia").exists())
        info = json.loads(self.succeed("info", "own.kalmia", "--json"))
        self.assertIn('["y2"]', json.dumps(info))
        self.assertNotIn('"y1"', json.dumps(info))

    def test_files_are_relative_to_the_configuration(self):
        (self.folder / "sub").mkdir()
        support.write_track(self.folder / "sub" / "track.csv")
        self.write(GOOD, "sub/fit.toml")
        self.succeed("fit", "sub/fit.toml")
        self.assertTrue((self.folder / "sub" / "model.kalmia").exists())

    def test_noise_as_number_list_and_matrix(self):
        self.track()
        for noise in ("0.3", "[0.3, 0.3]", "[[0.09, 0.0], [0.0, 0.09]]", '"learn-full"'):
            with self.subTest(noise=noise):
                self.write(GOOD.replace("[0.3, 0.3]", noise))
                self.succeed("fit", "fit.toml")
        self.refuse(GOOD.replace("[0.3, 0.3]", "true"), "fit.toml:9: model.noise = true")
        self.refuse(GOOD.replace("[0.3, 0.3]", '[["a"]]'), "fit.toml:9: model.noise = ")

    def test_unknown_keys(self):
        self.refuse(GOOD + "windw = 3\n", "fit.toml:16: unknown key train.windw; did you mean "
                    "train.window?")
        self.refuse("[model]\nwindow = 3\n", "fit.toml:2: unknown key model.window; did you mean "
                    "train.window?")
        self.refuse("[trian]\nwindow = 3\n", "fit.toml:1: unknown key trian")
        self.refuse("ouput = 'x'\n", "fit.toml:1: unknown key ouput; did you mean output?")

    def test_wrong_types(self):
        for line, rule in (("window = 3.5", "a whole number"), ('window = "3"', "a whole number"),
                           ("window = 99999999999", "a whole number"),
                           ("window = -99999999999", "a whole number"),
                           ("seed = -1", "a whole number >= 0"), ("gaps = [1]", "a number")):
            with self.subTest(line=line):
                key, value = line.split(" = ")
                shown = value.replace('"', "'")
                text = self.refuse(f"\n[train]\n{line}\n", f"fit.toml:3: train.{key} = ", rule)
                self.assertIn(shown.strip("[]'"), text)
        self.refuse("[data]\nmeasure = 3\n", "fit.toml:2: data.measure = 3", "an array of texts")
        self.refuse("[model]\ndecoder = [8, 'x']\n", "fit.toml:2: model.decoder", "whole numbers")
        self.refuse("[model]\ncalibrate = 1\n", "fit.toml:2: model.calibrate = 1", "true or false")
        self.refuse("train = 3\n", "fit.toml:1: train = 3, but it must be a table")

    def test_a_switch(self):
        self.track()
        for value in ("true", "false"):
            self.write(GOOD.replace("hidden = 8", f"hidden = 8\ncalibrate = {value}"))
            self.succeed("fit", "fit.toml")
            info = json.loads(self.succeed("info", "model.kalmia", "--json"))
            self.assertEqual(info["calibration"] is not None, value == "true")
            self.succeed("fit", "fit.toml", "--calibrate", "-o", "other.kalmia")
            info = json.loads(self.succeed("info", "other.kalmia", "--json"))
            self.assertIsNotNone(info["calibration"])
            self.succeed("fit", "fit.toml", "--no-calibrate", "-o", "other.kalmia")
            info = json.loads(self.succeed("info", "other.kalmia", "--json"))
            self.assertIsNone(info["calibration"])

    def test_all_problems_at_once(self):
        text = self.refuse("[train]\nwindw = 1\nbatch = 'x'\n", "fit.toml:2: ", "fit.toml:3: ")
        self.assertEqual(text.count("fit.toml:"), 2)

    def test_values_out_of_range(self):
        self.refuse(GOOD + "window = 0\n", "kalmia fit: fit.toml:16: train.window = 0, but it must be")
        several = GOOD.replace("hidden = 8", "hidden = 8\nencoder = 'gruu'") + "window = 0\nbatch = 0\n"
        self.refuse(several, "invalid options:", '\n  fit.toml:11: model.encoder = "gruu", but it must be gru',
                    "did you mean gru?\n", "\n  fit.toml:17: train.window = 0, but",
                    "\n  fit.toml:18: train.batch = 0, but")

    def test_not_toml(self):
        self.refuse("[data]\nfile = \n", "fit.toml:2: ")
        self.refuse("\x00\x01", "fit.toml:1: ")

    def test_nesting_beyond_reason(self):
        deep = 100000
        many = "brackets more than 32 deep within one another"
        parts = "a name of more than 32 parts"
        for text, said in (("a = " + "[" * deep + "]" * deep, many),
                           ("a = " + "{a=" * deep + "1" + "}" * deep, many),
                           ("a" + ".a" * deep + " = 1", parts),
                           ("a" + " . 'a'" * deep + " = 1", parts),
                           ("[a" + ".a" * deep + "]\nx = 1", parts),
                           ("[[a" + ".a" * deep + "]]\nx = 1", parts)):
            self.refuse("# [[[ . . .\n" + text + "\n", "fit.toml:2: " + said)
        # Strings and comments hide what only looks like it.
        hidden = "." * 100 + "[" * 100
        for quote in ('"', "'", '"""', "'''"):
            self.refuse(f"output = {quote}{hidden}{quote} # {hidden}\nodd = 1\n",
                        "fit.toml:2: unknown key odd")
        lines = f'output = """a\n"\\""{hidden}\n"""""\nodd = 1\n'
        self.refuse(lines, "fit.toml:4: unknown key odd")

    def test_no_data_and_no_file(self):
        self.refuse("[train]\nupdates = 3\n", "fit.toml: no data")
        self.refuse("", "fit.toml: no data")
        self.fail_with(1, ["fit", "absent.toml"], ["absent.toml"])
        (self.folder / "folder.toml").mkdir()
        self.fail_with(1, ["fit", "folder.toml"], ["folder.toml", "directory"])


if __name__ == "__main__":
    support.main()
