import ExportText
import Migration

// Options that mean the same in several commands; those of one command stand beside what it does.

extension Option where Value == Bool {
  package static var help: Self { Self("help", "show this help") }
  package static var json: Self { Self("json", "print JSON") }
  static var jsonFormat: Self { json.help("the same as --format json") }
  static var jsonProgress: Self {
    json.help(
      "print progress and receipts as NDJSON; with several stores, one line for each when it is done, with its status"
    )
  }
  static var noBackup: Self { Self("no-backup", "do not keep the old store") }
  package static var plain: Self {
    Self("plain", "print the screens as lines of text, and read commands by name")
  }
  static var ignoreWAL: Self { Self("ignore-wal", "read the main file alone") }
}

extension Option where Value == String? {
  package static var model: Self {
    Self(
      merging: "model", "MODEL",
      "read the store with this model instead of the one in it; several models are merged, as an app merges them"
    )
  }
  package static var to: Self {
    Self(
      merging: "to", "MODEL",
      "the model to migrate to, such as Recipes.xcdatamodeld@'Recipes 3', or @REVISION of git")
  }
  static var from: Self {
    Self(
      merging: "from", "MODEL",
      "the model that made the store, if neither it nor a bundle beside it has it")
  }
  package static var via: Self {
    Self(
      "via", "PATH", .file, "migrate through the versions in this .xcdatamodeld, .momd or folder")
  }
  static var output: Self {
    Self("output", "FILE", .file, "write the result here and leave the store alone")
  }
  static var receipt: Self {
    Self(
      "receipt", "FILE", .file,
      "write the receipt to this file as JSON (for several stores, an array)")
  }
  static var predicate: Self {
    Self("where", "PREDICATE", "only objects that match, as an NSPredicate")
  }
  package static var passwordFile: Self {
    Self(
      "password-file", "FILE", .file,
      "read the password of an encrypted iOS backup from this file; - is standard input")
  }
  static var wal: Self {
    Self("wal", "FILE", .file, "read this -wal with the main file, instead of the one beside it")
  }
}

extension Option where Value == [String] {
  package static var mapping: Self {
    Self(
      repeating: "mapping", "FILE", .file,
      "a mapping model (.cdm, .xcmappingmodel), a recipe, or a folder of these")
  }
  static var allowLoss: Self {
    Self(
      repeating: "allow-loss", "ENTITY[.PROPERTY]", .text,
      "accept the loss of these values or objects; wal: invalid frames of the -wal")
  }
  static var allowLossFile: Self {
    Self(
      repeating: "allow-loss-file", "FILE", .file,
      "the same for the names in a file, one per line with # comments, or a JSON5 list")
  }
}

extension Option where Value == ColorChoice? {
  package static var color: Self {
    Self(
      "color", "WHEN", among: ColorChoice.allCases,
      "colour on a terminal, always or never; NO_COLOR means never")
  }
}

extension Option where Value == RowFormat? {
  static var rowFormat: Self {
    Self("format", "FORMAT", among: RowFormat.allCases, "how to print them")
  }
}

extension Option where Value == MigrationPlan.Strategy? {
  static var strategy: Self {
    Self(
      "strategy", "WAY", among: [.inPlace, .copy],
      "how to carry out inferred steps (default: the cheaper way)")
  }
}

extension Option where Value == Int? {
  static var jobs: Self {
    Self(
      number: "jobs", atLeast: 1,
      "how many stores at once (default: the number of processors; at most twice that)")
  }
}

extension Argument where Value == String {
  package static var store: Self { Self("STORE", .store) }
  static var entity: Self { Self("ENTITY", .entity) }
}
