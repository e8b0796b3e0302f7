import ast
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Package(unittest.TestCase):
    def test_syntax_is_that_of_the_oldest_supported_python(self):
        self.assertIn('requires-python = ">=3.9"', (ROOT / "pyproject.toml").read_text("utf-8"))
        files = sorted((ROOT / "src" / "trailblaze").glob("*.py"))
        self.assertGreater(len(files), 3)
        for file in files:
            ast.parse(file.read_text("utf-8"), str(file), feature_version=(3, 9))

    def test_examples_of_the_readme_parse(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 2)
        for block in blocks:
            ast.parse(block)
