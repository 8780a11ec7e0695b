//! The prompt: line editing, history, several lines per statement.

use std::borrow::Cow;
use std::io;

use reedline::{
    ColumnarMenu, EditCommand, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, ValidationResult,
    Validator, default_emacs_keybindings,
};
use tokio::runtime::Handle;

use super::complete::Names;
use super::split::cut;
use super::{Flow, Shell};

const HISTORY_LINES: usize = 10_000;
const MENU: &str = "completion_menu";

/// Reads and runs until the user leaves.
pub(crate) async fn run(shell: &mut Shell) {
    if !shell.options.quiet {
        eprintln!("Sluice {}. `\\?` for help, `\\q` to leave.", env!("CARGO_PKG_VERSION"));
    }
    let prompt = Label(shell.options.label.clone());
    let mut editor = editor(shell);
    loop {
        // The editor waits for keys, so it gets a thread of its own while it does.
        let asked = prompt.clone();
        let read = tokio::task::spawn_blocking(move || {
            let signal = editor.read_line(&asked);
            (editor, signal)
        });
        let Ok((back, signal)) = read.await else { return };
        editor = back;
        match signal {
            Ok(Signal::Success(text)) => {
                if shell.script(&text, 0).await == Flow::Stop && leaves(&text) {
                    return;
                }
                if let super::Client::Remote(remote) = &shell.client
                    && remote.is_closed()
                {
                    return;
                }
            }
            Ok(Signal::CtrlC) => {}
            Ok(Signal::CtrlD) => return,
            Err(error) => {
                eprintln!("error: the terminal cannot be read: {error}");
                return;
            }
        }
    }
}

/// Whether a text holds the command to leave; a stop for another reason keeps the prompt.
fn leaves(text: &str) -> bool {
    let is_quit = |piece: &super::Piece<'_>| matches!(piece, super::Piece::Command(line) if super::meta::parse(line) == Ok(super::Meta::Quit));
    cut(text).pieces.iter().any(is_quit)
}

fn editor(shell: &Shell) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let menu = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, menu);
    keys.add_binding(
        KeyModifiers::ALT,
        KeyCode::Enter,
        ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
    );
    let names = Names { client: shell.client.clone(), runtime: Handle::current() };
    let editor = Reedline::create()
        .with_validator(Box::new(UntilSemicolon))
        .with_completer(Box::new(names))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU))))
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_history_exclusion_prefix(Some(" ".to_owned()))
        .use_bracketed_paste(true);
    let Some(file) = &shell.options.history_file else { return editor };
    match FileBackedHistory::with_file(HISTORY_LINES, file.clone()) {
        Ok(history) => editor.with_history(Box::new(history)),
        Err(error) => {
            let error: io::Error = io::Error::other(error.to_string());
            eprintln!("warning: no history is kept, `{}` cannot be used: {error}", file.display());
            editor
        }
    }
}

/// A line is taken when its last statement is ended.
struct UntilSemicolon;

impl Validator for UntilSemicolon {
    fn validate(&self, line: &str) -> ValidationResult {
        if cut(line).open.is_empty() { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

#[derive(Clone)]
struct Label(String);

impl Prompt for Label {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("=> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("-> ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search `{}`: ", search.term))
    }
}
