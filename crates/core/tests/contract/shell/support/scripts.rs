//! Random scripts: right ones and wrong ones.

use super::Lcg;

/// Anything after anything: most of these end in a syntax error, after some lines that ran.
#[rustfmt::skip]
const SOUP: &[&str] = &[
    "p ", "p ", "p a ", "p b\n", "\"", "\"", "'", "\\", "\n", "\n", " ", " ", ";", "|cat ", "&&", "||", "&",
    "$(", "$(p ", ")", ")", "(", "`", "${y:-", "${y", "${y#", "}", "{ ", "; }", "$((", "))", "1+1", "((",
    "<<EOF", "<<EOF\n", "<<-EOF\n", "<<'EOF'\n", "<<\\EOF\n", "<<\"EOF\"", "\nEOF\n", "\nEOF\n", "EOF",
    "\n\tEOF\n", "\nE\\\nOF\n", "cat ", "$'", "$\"", "$", "#", " # ", "case a in a)", "case a in (a) p ", ";;",
    "esac", "*)", "if p b; then ", "fi", "for i in ", "do ", "done", "$y", "$#", "! ", "[[ ", " ]]", "x=",
    "\\\n", "\\\"", "\\'", "\\`", "\\$", "\\\\", "eval ", "sh -c ", "f()", "=", "[", "]", "<", ">/dev/null",
    "2>&1", "\t", "é", "~", "<<<", "|sh", "0",
];

pub fn soup(random: &mut Lcg) -> String {
    let mut script = String::new();
    for _ in 0..4 + random.below(22) {
        if random.below(4) == 0 {
            script.push_str("{{x}}");
        } else {
            script.push_str(random.pick(SOUP));
        }
    }
    script
}

/// Scripts that are meant to be right: quoting and substitutions nested a few levels deep.
pub struct Grammar<'r> {
    pub random: &'r mut Lcg,
    pub documents: usize,
}

impl Grammar<'_> {
    pub fn script(&mut self) -> String {
        let mut script = String::new();
        for _ in 0..=self.random.below(4) {
            script.push_str(&self.line(3));
        }
        script
    }

    /// One line, with the bodies of its here-documents.
    fn line(&mut self, depth: usize) -> String {
        let (command, bodies) = self.command(depth);
        format!("{command}\n{bodies}")
    }

    fn command(&mut self, depth: usize) -> (String, String) {
        let simple = format!("p {}", self.words(depth));
        if depth == 0 {
            return (simple, String::new());
        }
        let deeper = depth - 1;
        match self.random.below(14) {
            0 => {
                let (inner, bodies) = self.command(deeper);
                (format!("( {inner} )"), bodies)
            }
            1 => {
                let (inner, bodies) = self.command(deeper);
                (format!("{{ {inner}; }}"), bodies)
            }
            2 => {
                let (inner, bodies) = self.command(deeper);
                (format!("if p {}; then {inner}; fi", self.word(deeper)), bodies)
            }
            3 => {
                let (inner, bodies) = self.command(deeper);
                (format!("for i in {}; do p \"$i\"; {inner}; done", self.words(deeper)), bodies)
            }
            4 => {
                let (inner, bodies) = self.command(deeper);
                let (subject, pattern) = (self.word(deeper), self.word(deeper));
                (format!("case {subject} in {pattern}) p c;; *) {inner} ;; esac"), bodies)
            }
            5 | 6 => self.here_document(deeper, &simple),
            7 => {
                let (inner, bodies) = self.command(deeper);
                (format!("{simple} | cat && {inner}"), bodies)
            }
            8 => (format!("x={}; p \"$x\"", self.word(deeper)), String::new()),
            9 => (format!("f() {{ p \"$@\" {}; }}; f {}", self.word(deeper), self.words(deeper)), String::new()),
            10 => (format!("{simple} # it's \" ` $( {{{{x}}}}"), String::new()),
            11 => (format!("sh -c 'printf \"%s\" \"$1\"' _ {}", self.word(deeper)), String::new()),
            _ => (simple, String::new()),
        }
    }

    fn here_document(&mut self, depth: usize, before: &str) -> (String, String) {
        self.documents += 1;
        let name = format!("E{}", self.documents);
        let (operator, end) = self.random.pick(&[&("<<", ""), &("<<-", "\t\t"), &("<<'", "'"), &("<<\\", "")]);
        let (operator, quote, tabs) = match *operator {
            "<<'" => ("<<'", "'", ""),
            "<<-" => ("<<-", "", *end),
            other => (other, "", ""),
        };
        let mut body = String::new();
        for _ in 0..self.random.below(4) {
            let line = match self.random.below(7) {
                0 => "it's \" \\$ \\` \\\\".to_owned(),
                1 => "{{x}}".to_owned(),
                2 => format!("\"{{{{x}}}}\" $(p {})", self.words(depth)),
                3 => "${y:-z} $y $((1 << 2)) `p '(' `".to_owned(),
                4 => format!(" {name} \\\n {name}"),
                5 => format!("$(p {}\n)", self.words(depth)),
                _ => format!("{name}{name}"),
            };
            body.push_str(&line);
            body.push('\n');
        }
        let command = format!("{before}; cat {operator}{name}{quote}");
        (command, format!("{body}{tabs}{name}\n"))
    }

    fn words(&mut self, depth: usize) -> String {
        let words: Vec<_> = (0..=self.random.below(3)).map(|_| self.word(depth)).collect();
        words.join(self.random.pick(&[" ", "  ", "\t", " \\\n"]))
    }

    fn word(&mut self, depth: usize) -> String {
        (0..=self.random.below(3)).map(|_| self.part(depth)).collect()
    }

    fn part(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.random.pick(&["{{x}}", "a", "\\'", "'\"'", "\"{{x}}'\"", "$y", "\"$y\""]).to_owned();
        }
        let deeper = depth - 1;
        match self.random.below(16) {
            0..4 => "{{x}}".to_owned(),
            4 => format!("\"{}\"", self.quoted(deeper)),
            5 => format!("\"it's {}{}\"", self.quoted(deeper), self.quoted(deeper)),
            6 => format!("$({})", self.substituted(deeper)),
            7 => "'a \"$(`\\'".to_owned(),
            8 => "`p \"'\\`p ')'\\`\"`".to_owned(),
            9 => self.random.pick(&["${y:-'}'}", "${y#\"}\"}", "${y%\\}}", "${#y}", "${z:-a\"'}\"b}"]).to_owned(),
            10 => self.random.pick(&["$((1 << 2))", "$(( (1+2)*3 ))", "$((${#y} + $(printf 1)))"]).to_owned(),
            11 => self.random.pick(&["\\\"", "\\'", "\\\\", "\\$", "\\`", "\\#", "\\(", "\\\n"]).to_owned(),
            12 => self.random.pick(&["a#b", "#", "$", "=", "~", "{a", "a}", "]", "!", "%", "é", "[["]).to_owned(),
            13 => self.random.pick(&["$y", "$#", "$@", "\"$@\"", "$?"]).to_owned(),
            14 => self.random.pick(&["$'a'", "$'b\\\\'", "$\"c\""]).to_owned(),
            _ => "a".to_owned(),
        }
    }

    fn quoted(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0..3 => "{{x}}".to_owned(),
            3 => format!("$({})", self.substituted(depth)),
            4 => self.random.pick(&["\\\"", "\\$", "\\\\", "\\`", "\\a", "\\'", "\\\n"]).to_owned(),
            5 => self.random.pick(&["${y:-z}", "${z:-\"a b\"}", "${y#\\}}", "${#y}", "$y", "$((1+1))"]).to_owned(),
            6 => "`p \\\"a\\\" ')'`".to_owned(),
            7 => self.random.pick(&["'", "#", "$", " # ", "(", ")", "<<E1", "\n", "$'"]).to_owned(),
            _ => " b ".to_owned(),
        }
    }

    fn substituted(&mut self, depth: usize) -> String {
        if self.random.below(3) == 0 { self.line(depth) } else { format!("p {}", self.words(depth)) }
    }
}
