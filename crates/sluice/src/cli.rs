//! The commands, their flags and their help.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use sluice::config::{self, Inputs, Loaded};
use sluice::demo::{self, DemoOptions};
use sluice::shell::{self, Ending, Format, Input, ShellOptions};
use sluice::{Options, Server, log, serve};

/// Of each thread that plans and runs statements: plans are trees, and are walked from the root down. Memory is taken as
/// far down as a thread gets.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Governed SQL for the lakehouse, in one binary.
///
/// The first gate decides whether you may open a table; the second decides what flows out of it.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve SQL over the PostgreSQL protocol and HTTP.
    ///
    /// The first start makes the data folder and a user `admin`, whose password it prints once.
    /// SIGINT or SIGTERM stops it: running statements may end, then everything is closed.
    Serve(ServeArgs),
    /// Start a server with data in it, run the tutorial against it as four users, and check every result.
    ///
    /// Exits with 1 if any step comes out otherwise than the tutorial says.
    Demo(DemoArgs),
    /// Run SQL: at a prompt, from a file, or from the command line.
    ///
    /// Connects over the PostgreSQL protocol, or, with --data-dir, opens a data folder that no server holds.
    /// At the prompt `\?` lists the commands.
    Sql(Box<SqlArgs>),
    /// Check or show the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
}

#[derive(Debug, Args)]
struct ConfigFile {
    /// Configuration file; without it `sluice.toml` in the working directory, if it is there.
    #[arg(long, short = 'c', env = "SLUICE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// Data folder (`server.data_dir`).
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where PostgreSQL is spoken (`postgres.listen`): host:port, or off.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Where HTTP is spoken (`http.listen`): host:port, or off.
    #[arg(long, value_name = "ADDR")]
    http_listen: Option<String>,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// An empty folder for the demo's data, which is then kept; without it a temporary one.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Scale factor of the TPC-H tables; 0 leaves them out.
    #[arg(long, default_value_t = 0.01, value_name = "FACTOR")]
    scale: f64,
    /// Go on serving when the tutorial is through.
    #[arg(long)]
    keep: bool,
    /// Where to speak PostgreSQL; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR")]
    listen: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatName {
    Table,
    Vertical,
    Csv,
    Json,
}

#[derive(Debug, Args)]
struct SqlArgs {
    /// Host of the server.
    #[arg(long, short = 'H', env = "PGHOST", default_value = "127.0.0.1", value_name = "HOST")]
    host: String,
    /// Port of the server.
    #[arg(long, short = 'p', env = "PGPORT", default_value_t = 5433, value_name = "PORT")]
    port: u16,
    /// Who connects.
    #[arg(long, short = 'U', env = "PGUSER", default_value = sluice::server::FIRST_ADMIN, value_name = "NAME")]
    user: String,
    /// Catalog to start in; without it the server's first.
    #[arg(long, short = 'd', env = "PGDATABASE", value_name = "CATALOG")]
    catalog: Option<String>,
    /// File whose first line is the password; otherwise PGPASSWORD, or a prompt.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Connect with TLS only, to a server whose certificate the authorities in this PEM file vouch for.
    #[arg(long, env = "PGSSLROOTCERT", value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Open this data folder in this process, as --user; no password, since the files are at hand.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["password_file"])]
    data_dir: Option<PathBuf>,
    /// Configuration file for --data-dir.
    #[arg(long, env = "SLUICE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run this and leave; may be given several times.
    #[arg(long, short = 'c', value_name = "SQL")]
    command: Vec<String>,
    /// Run this file and leave; may be given several times.
    #[arg(long, short = 'f', value_name = "FILE")]
    file: Vec<PathBuf>,
    /// How results look.
    #[arg(long, value_enum, default_value_t = FormatName::Table)]
    format: FormatName,
    /// No greeting, row counts or command tags.
    #[arg(long, short = 'q')]
    quiet: bool,
    /// Tell how long each statement took.
    #[arg(long)]
    timing: bool,
    /// ON_ERROR_STOP[=1|0]: end a script at its first error.
    #[arg(long = "set", short = 'v', value_name = "NAME[=VALUE]")]
    set: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Say whether a configuration file and the environment are right; tells every fault with its place.
    Check {
        /// Without it `sluice.toml` in the working directory, if it is there.
        #[arg(env = "SLUICE_CONFIG")]
        file: Option<PathBuf>,
    },
    /// Show every setting as it stands, with where it comes from; secrets are not shown.
    Show(ConfigFile),
    /// Print the reference of all settings, in Markdown.
    Reference,
}

pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Serve(args) => run_serve(args),
        Command::Demo(args) => run_demo(args),
        Command::Sql(args) => run_sql(*args),
        Command::Config(command) => run_config(command),
    }
}

fn run_serve(args: ServeArgs) -> Result<ExitCode> {
    let mut inputs = inputs(args.config.config)?;
    if let Some(data_dir) = args.data_dir {
        inputs = inputs.with_flag("server.data_dir", data_dir.display().to_string());
    }
    if let Some(listen) = args.listen {
        inputs = inputs.with_flag("postgres.listen", listen);
    }
    if let Some(listen) = args.http_listen {
        inputs = inputs.with_flag("http.listen", listen);
    }
    let config = config::load(&inputs)?.config;
    log::start(&config.server.log_level, config.server.log_format)
        .context("`server.log_level` is no level")?;
    runtime()?.block_on(serve::serve(&config))?;
    Ok(ExitCode::SUCCESS)
}

fn run_demo(args: DemoArgs) -> Result<ExitCode> {
    if !(args.scale.is_finite() && (0.0..=1000.0).contains(&args.scale)) {
        bail!("`--scale` takes a number from 0 to 1000");
    }
    // The tutorial's own lines are the output; the log adds only what goes wrong inside.
    log::start("warn", log::LogFormat::Text)?;
    let options =
        DemoOptions { data_dir: args.data_dir, scale: args.scale, keep: args.keep, listen: args.listen };
    let outcome = runtime()?.block_on(demo::run(&options))?;
    Ok(if outcome.n_wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_sql(args: SqlArgs) -> Result<ExitCode> {
    let inputs =
        args.command.iter().cloned().map(Input::Text).chain(args.file.iter().cloned().map(Input::File));
    let options = ShellOptions {
        format: match args.format {
            FormatName::Table => Format::Table,
            FormatName::Vertical => Format::Vertical,
            FormatName::Csv => Format::Csv,
            FormatName::Json => Format::Json,
        },
        quiet: args.quiet,
        timing: args.timing,
        on_error_stop: on_error_stop(&args.set)?,
        inputs: inputs.collect(),
        label: args.user.clone(),
        history_file: history_file(),
    };
    let ending = match &args.data_dir {
        Some(data_dir) => sql_embedded(&args, data_dir, options)?,
        None => sql_remote(&args, options)?,
    };
    Ok(if ending == Ending::Clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn sql_remote(args: &SqlArgs, options: ShellOptions) -> Result<Ending> {
    let mut config = tokio_postgres::Config::new();
    config.host(&args.host).port(args.port).user(&args.user).password(password(args)?);
    config.application_name("sluice sql");
    if let Some(catalog) = &args.catalog {
        config.dbname(catalog);
    }
    let place = format!("`{}` port {}", args.host, args.port);
    runtime()?
        .block_on(shell::run_remote(&config, args.tls_ca.as_deref(), options))
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("cannot connect to {place}"))
}

fn sql_embedded(args: &SqlArgs, data_dir: &Path, options: ShellOptions) -> Result<Ending> {
    if !data_dir.is_dir() {
        bail!("no folder `{}`; `sluice serve --data-dir` makes one", data_dir.display());
    }
    let inputs = inputs(args.config.clone())?
        .with_flag("server.data_dir", data_dir.display().to_string())
        .with_flag("postgres.listen", "off")
        .with_flag("http.listen", "off");
    let config = config::load(&inputs)?.config;
    runtime()?.block_on(async {
        let running = Server::start(&config, Options::default()).await?;
        let session = running.open_embedded(&args.user, args.catalog.as_deref()).await;
        let ending = match session {
            Ok(session) => Ok(shell::run_embedded(session, options).await),
            Err(error) => Err(error),
        };
        running.shutdown().await?;
        Ok(ending?)
    })
}

fn run_config(command: ConfigCommand) -> Result<ExitCode> {
    match command {
        ConfigCommand::Check { file } => {
            let inputs = inputs(file)?;
            config::load(&inputs)?;
            match &inputs.file {
                Some(file) => println!("{}: right", file.display()),
                None => println!("no file; the environment is right"),
            }
        }
        ConfigCommand::Show(file) => {
            let Loaded { effective, .. } = config::load(&inputs(file.config)?)?;
            let width = effective.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
            for setting in effective {
                println!("{:width$} = {}  # {}", setting.name, setting.value, setting.source);
            }
        }
        ConfigCommand::Reference => print!("{}", config::reference()),
    }
    Ok(ExitCode::SUCCESS)
}

fn inputs(file: Option<PathBuf>) -> Result<Inputs> {
    let working_dir = std::env::current_dir().context("there is no working directory")?;
    Ok(Inputs::of_process(file.or_else(|| config::default_file(&working_dir))))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .context("the runtime does not start")
}

fn on_error_stop(set: &[String]) -> Result<bool> {
    let mut stops = false;
    for variable in set {
        let (name, value) = variable.split_once('=').unwrap_or((variable, "1"));
        if name != "ON_ERROR_STOP" {
            bail!("no variable `{name}`; `ON_ERROR_STOP` is the one there is");
        }
        stops = match value {
            "1" | "on" | "true" => true,
            "0" | "off" | "false" => false,
            _ => bail!("`ON_ERROR_STOP` takes 1 or 0"),
        };
    }
    Ok(stops)
}

fn history_file() -> Option<PathBuf> {
    let home = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let state = home("XDG_STATE_HOME").or_else(|| Some(home("HOME")?.join(".local").join("state")))?;
    let folder = state.join("sluice");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

fn password(args: &SqlArgs) -> Result<String> {
    if let Some(file) = &args.password_file {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
        return Ok(text.lines().next().unwrap_or_default().to_owned());
    }
    if let Some(password) = std::env::var_os("PGPASSWORD") {
        return password.into_string().map_err(|_| anyhow::anyhow!("`PGPASSWORD` is no text"));
    }
    if !std::io::stdin().is_terminal() {
        bail!("no password: set `PGPASSWORD`, or name a file with `--password-file`");
    }
    asked_password(&args.user)
}

/// Asks at the terminal, which shows nothing meanwhile.
fn asked_password(user: &str) -> Result<String> {
    let echo = |setting: &str| {
        let status = Process::new("stty").arg(setting).stdin(Stdio::inherit()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !echo("-echo") {
        bail!("the terminal cannot hide a password: set `PGPASSWORD`, or name a file with `--password-file`");
    }
    eprint!("password of {user}: ");
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    echo("echo");
    eprintln!();
    read.context("the terminal cannot be read")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
