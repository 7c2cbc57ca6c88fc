use super::*;

#[track_caller]
fn assert_tests(path: &str, text: &str, tests: u32, skipped: u32) {
    assert_eq!(count_in_source(path, text), SourceTests { tests, skipped }, "{path}\n{text}");
}

#[test]
fn rust_tests_have_attributes() {
    let text = r##"
        /// #[test] in a comment
        pub fn add<'a>(a: &'a str) -> char { '"' }
        #[cfg(test)]
        mod tests {
            #[test]
            fn one() { let s = "#[test] fn x() {}"; }
            #[tokio::test(flavor = "multi_thread")]
            async fn two() {}
            #[test]
            #[ignore = "slow"]
            fn three() {}
            #[rstest]
            #[case(1)]
            #[case(2)]
            fn four(#[case] n: u32) {}
            #[ignore] #[test] fn five() {}
            // #[test] fn six() {}
            /* #[test] fn seven() {} */
            #[test_case(1; "a")]
            #[test_case(2; "b")]
            fn eight(n: u32) {}
            fn helper(x: [u8; 2]) {}
            const RAW: &str = r#"#[test] fn nine() {} ""#;
        }
    "##;
    assert_tests("src/lib.rs", text, 6, 2);
}

#[test]
fn python_tests_are_functions() {
    let text = r#"
"""def test_in_docstring(): pass"""
import pytest

@pytest.fixture
def test_client(): ...

def test_one(): ...
async def test_two(): ...
# def test_three(): ...

@pytest.mark.parametrize("a", [
    1,
    2,
])
@pytest.mark.skipif(
    True, reason="def test_no(): x")
def test_four(a): ...

@pytest.mark.xfail
def test_five(): ...

def test_six():
    """Says something."""
    pytest.skip("later")

def test_seven():
    if broken():
        pytest.skip("depends")

def helper(): ...

@unittest.skip("all")
class TestSkipped(TestCase):
    def test_eight(self): ...
    def testNine(self): ...

class TestOther(TestCase):
    def test_ten(self):
        self.skipTest("later")
    @unittest.expectedFailure
    def test_eleven(self): ...
    def test_twelve(self): ...
"#;
    assert_tests("tests/test_app.py", text, 11, 7);
    assert_tests("app/client.py", "def test_connection(): ...", 0, 0);
}

#[test]
fn a_whole_python_module_can_be_skipped() {
    let text = "pytestmark = [pytest.mark.slow, pytest.mark.skip(reason='x')]\ndef test_a(): ...\ndef test_b(): ...\n";
    assert_tests("test_a.py", text, 2, 2);
    assert_tests("test_a.py", "pytest.skip('x', allow_module_level=True)\ndef test_a(): ...\n", 1, 1);
    assert_tests(
        "test_a.py",
        "if WINDOWS:\n    pytest.skip('x', allow_module_level=True)\ndef test_a(): ...\n",
        1,
        0,
    );
    assert_tests("test_a.py", "pytestmark = pytest.mark.slow\ndef test_a(): ...\n", 1, 0);
}

#[test]
fn javascript_tests_are_calls() {
    let text = r"
import { it, test, describe } from 'vitest';
// it('comment', () => {});
/* test('comment', () => {}); */
describe('a', () => {
  beforeEach(() => { it.name; });
  it('one', () => { expect(/it('x'/.test('it(')).toBe(true); });
  it.skip('two', () => {});
  test.todo('three');
  xit('four', () => {});
  it.each([[1, 2], [3, (4)]])('five %s', (a) => {});
  it.each`
    a | b
  `('six', () => {});
  it.concurrent('seven', async () => { const text = `it('no')`; });
  it.skipIf(process.env.CI)('eight', () => {});
});
describe.skip('b', () => {
  it('nine', () => {});
  describe('c', () => { it('ten', () => {}); });
});
xdescribe('d', function () { test('eleven', () => {}) });
it('twelve', () => {});
function test(x) {}
regex.test('x');
";
    assert_tests("src/a.test.ts", text, 12, 7);
    assert_tests("src/a.ts", "it('x', () => {});", 0, 0);
}

#[test]
fn an_only_disables_the_other_tests() {
    let others = "it('a', () => {});\nit('b', () => {});\n";
    assert_tests("a.test.js", &format!("{others}it.only('c', () => {{}});"), 3, 2);
    assert_tests("a.test.js", &format!("{others}fit('c', () => {{}});"), 3, 2);
    let group = "describe.only('g', () => { it('c', () => {}); it.skip('d', () => {}); });";
    assert_tests("a.test.js", &format!("{others}{group}"), 4, 3);
}

#[test]
fn playwright_and_other_objects_are_told_apart() {
    let text = r"
test.describe('a', () => {
  test.beforeEach(async () => {});
  test('one', async () => { await test.step('x', () => {}); test.skip(isMobile, 'y'); });
  test('two', async () => { test.skip(); });
  test.fixme('three', async () => {});
  test.describe.skip('b', () => { test('four', () => {}); });
});
test.describe.configure({ mode: 'parallel' });
Deno.test('five', () => {});
it('six', function () { this.skip(); });
it('seven', function () { if (x) { this.skip(); } });
";
    assert_tests("e2e/a.spec.ts", text, 7, 4);
}

#[test]
fn go_tests_are_functions_with_a_name() {
    let text = r#"
package a
// func TestComment(t *testing.T) {}
func TestMain(m *testing.M) {}
func TestOne(t *testing.T) { x := `func TestRaw(t *testing.T) {` }
func Test_two(t *testing.T) {}
func TestThree(t *testing.T) {
	t.Skip("later")
}
func TestFour(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	t.Run("x", func(t *testing.T) { t.Skip() })
}
func (s *Suite) TestFive() {}
func FuzzSix(f *testing.F) {}
func ExampleSeven() {}
func Testify() {}
func BenchmarkEight(b *testing.B) {}
"#;
    assert_tests("a_test.go", text, 7, 1);
    assert_tests("a.go", text, 0, 0);
    assert_tests("a_test.go", "//go:build ignore\n\npackage a\n\nfunc TestA(t *testing.T) {}\n", 1, 1);
}

#[test]
fn java_and_kotlin_tests_have_annotations() {
    let text = r#"
@DisplayName("@Test")
class ATest {
    @Mock Foo foo = new Foo();
    // @Test void no() {}
    @Test void one() { assertThrows(X.class, () -> {}); }
    @Test @Disabled("x") void two() {}
    @Ignore
    @org.junit.Test(expected = X.class)
    public void three() throws Exception {}
    @ParameterizedTest @ValueSource(ints = {1, 2})
    void four(@Foo int n) {}
    @Test(enabled = false) void five() {}
    @DisabledOnOs(OS.WINDOWS) @Test void six() {}
    void helper() {}
    @Nested @Disabled class Inner { @Test void seven() { if (x) { y(); } } }
    @Test void eight() {}
}
"#;
    assert_tests("src/test/java/ATest.java", text, 8, 5);
    let kotlin = "class ATest {\n  @Test fun `adds two`() = runTest { }\n  @Ignore @Test fun b() { X::class }\n  @Test fun c() {}\n}\n";
    assert_tests("ATest.kt", kotlin, 3, 1);
}

#[test]
fn csharp_tests_have_attributes() {
    let text = r#"
[TestClass]
public class ATests {
    [Fact] public void One() { var x = items[0]; }
    [Fact(Skip = "later")]
    public async Task Two() { }
    [Theory, InlineData(1)]
    [InlineData(2)]
    public void Three(int n) => Check(n);
    [Test, Ignore("x")] public void Four() {}
    [TestCase(1)] [TestCase(2)] public void Five(int n) {}
    [TestMethod] public void Six() { Assert.Inconclusive(); }
    // [Fact] public void Seven() {}
    public int this[int i] { get { return 1; } }
}
[Ignore] public class Others { [Test] public void Eight() {} }
"#;
    assert_tests("ATests.cs", text, 7, 4);
}

#[test]
fn ruby_tests_are_examples_or_methods() {
    let text = r#"
RSpec.describe "a" do
  let(:it_is) { 1 }
  it "one" do
    expect(it).to eq 1
  end
  it { is_expected.to be }
  it "pending without a body"
  xit "four" do
  end
  it "five", skip: "later" do
  end
  it "six" do
    skip "later"
  end
  # it "comment" do
  xdescribe "b" do
    it "seven" do
    end
  end
  it "eight" do
    x if y
    skip "depends"
  end
  pending "nine" do
  end
end
=begin
it "no" do
=end
"#;
    assert_tests("spec/a_spec.rb", text, 9, 6);
    let minitest = "class ATest < Minitest::Test\n  def test_a; end\n  def test_b\n    skip\n  end\n  test \"c\" do\n  end\nend\n";
    assert_tests("test/a_test.rb", minitest, 3, 1);
}

#[test]
fn php_tests_are_methods_or_calls() {
    let text = r"<?php
class ATest extends TestCase {
    public function testOne(): void { $this->assertTrue(true); }
    // public function testComment() {}
    /** @test */
    public function two(): void {}
    #[Test]
    public function three(): void {}
    public function testFour(): void { $this->markTestSkipped('later'); }
    public function testFive(): void { if (true) { $this->markTestSkipped('x'); } }
    private function helper(): void {}
}
";
    assert_tests("tests/ATest.php", text, 5, 1);
    let pest = "<?php\nit('a', function () {});\ntest('b', fn () => true)->skip();\ntodo('c');\nit('d', function () {})->with([1]);\n";
    assert_tests("tests/ATest.php", pest, 4, 2);
}

#[test]
fn elixir_tests_are_macros() {
    let text = r#"
defmodule ATest do
  use ExUnit.Case
  test "one", do: assert true
  @tag :skip
  test "two" do
  end
  @tag skip: "later"
  @tag timeout: 5
  test "three", %{a: a} do
  end
  @tag :slow
  test "four" do
  end
  # test "comment" do
  describe "b" do
    @describetag :skip
    test "five" do
    end
  end
  test "six" do
  end
end
"#;
    assert_tests("test/a_test.exs", text, 6, 3);
    assert_tests("test/a_test.exs", "@moduletag :skip\ntest \"a\" do\nend\ntest \"b\" do\nend\n", 2, 2);
}

#[test]
fn unknown_languages_have_no_tests() {
    assert_tests("tests/a.zig", "test \"x\" {}", 0, 0);
    assert_tests("tests/README.md", "it('x')", 0, 0);
    assert_tests("", "", 0, 0);
}
