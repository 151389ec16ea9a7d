import ManagedModel
import ManagedStore

/// What the interface knows of the store from opening it: all but its rows.
package struct StoreSummary: Sendable, Equatable {
  /// Where it is, as it was opened.
  package var path: String
  var fileName: String
  var model: Model
  var modelMatches: Bool
  /// Whether the store has no model, so that tables and columns are shown as they are.
  var isRaw: Bool
  /// The UUID of its metadata.
  package var uuid: String
  var walFrames: Int
  /// How it is read: itself, a private copy, or beside a program that has it open.
  package var access: StoreFiles.Access
  var warnings: [String]
  /// That the store is not of the model that was named for it; one of the warnings.
  var misfit: String?
  /// What of the store's rows is lost or may be, in a few words.
  var gap: String?
  /// The columns of each entity that the store has a table for.
  var columns: [String: [RowColumn]]
  /// Where they are kept, for compiling filters.
  let layout: StoreLayout
  /// Entities whose table is missing in the file.
  var missing: Set<String>
  /// Whether it keeps persistent history.
  package var hasHistory = false

  /// A summary; what is left out is as in a plain store.
  ///
  /// - Parameter hashes: the model's version hashes, where they are known already.
  package init(
    path: String, fileName: String, model: Model, modelMatches: Bool, isRaw: Bool = false,
    uuid: String, walFrames: Int = 0, access: StoreFiles.Access = .immutable,
    warnings: [String] = [], misfit: String? = nil, gap: String? = nil,
    columns: [String: [RowColumn]],
    tables: [EntityTable] = [], mirror: MirrorTables? = nil, missing: Set<String> = [],
    hashes: [String: VersionHash]? = nil
  ) {
    (
      self.path, self.fileName, self.model, self.modelMatches, self.isRaw, self.uuid,
      self.walFrames, self.access, self.warnings, self.gap, self.columns, self.missing
    ) = (
      path, fileName, model, modelMatches, isRaw, uuid, walFrames, access, warnings, gap, columns,
      missing
    )
    self.misfit = misfit
    layout = StoreLayout(
      path: path, uuid: uuid, model: model, entityTables: tables, mirror: mirror)
    hashPrefix = Self.prefix(
      ofDigest: Model.versionHashesDigest(of: hashes ?? model.versionHashes))
  }

  /// The first digits of a digest in Base64, as the header shows them.
  static func prefix(ofDigest digest: String) -> String {
    ByteText.bytes(base64: digest).map { ByteText.hex($0.prefix(4)).uppercased() }
      ?? String(digest.prefix(8))
  }

  /// What was deleted from a store has none of its troubles.
  package mutating func showAsRemains() {
    fileName += ": deleted and older"
    (warnings, misfit, gap, walFrames, modelMatches) = ([], nil, nil, 0, true)
  }

  /// The first digits of the digest of all version hashes.
  let hashPrefix: String
}

/// What happened to the store's files while they were looked at.
package enum StoreChange: Sendable, Equatable {
  /// Another file has its name now.
  case replaced
  /// Another program saved to it: how often, where something counts it.
  case saved(Int?)
  /// Nothing has its name any more.
  case gone

  var isSave: Bool { if case .saved = self { true } else { false } }

  /// What it is in the header.
  var word: String {
    switch self {
    case .replaced: "replaced"
    case .saved: "changed"
    case .gone: "gone"
    }
  }

  var sentence: String {
    switch self {
    case .replaced: "another file is in the store’s place; ^R reads it"
    case .saved: "another program changed the store; ^R reads it again"
    case .gone: "the store’s file is gone; ^R looks for it again"
    }
  }
}

/// Where a private copy of a store lies, and what it is a copy of.
package struct CopyPlace: Sendable, Equatable {
  /// The folder that stands for the container, or for the folder that the store is in.
  var root: String
  /// What stands before a path in it, with the slashes.
  var prefix: String
  /// What the store is in, or of what type it is.
  var noun: String
  /// The model that a command has to name as well to read it the same way; `nil` where none was named.
  var model: String?
  /// The one file of an XML or binary store, of which the copy was made: what lies beside the copy is nothing of it.
  var whole: WholeFile?
  /// Whether the store is in a container, which has no room for files beside it.
  var isContained: Bool

  /// A store that is one file, which is no database.
  package struct WholeFile: Sendable, Equatable {
    /// Its type, as metadata name it.
    var type: String
    /// What the file is.
    var file: StoreFile
    /// Whether its model was made of its objects, since none was given or found.
    var isModelMade: Bool

    /// - Parameter type: as metadata name it.
    package init(type: String, file: StoreFile, isModelMade: Bool = false) {
      (self.type, self.file, self.isModelMade) = (type, file, isModelMade)
    }

    /// Gives the file the name that a person has for it.
    package mutating func name(_ path: String) { file.path = path }
  }

  /// A copy in a folder.
  package init(
    root: String, prefix: String, noun: String, model: String? = nil, whole: WholeFile? = nil,
    isContained: Bool = true
  ) {
    (self.root, self.prefix, self.noun, self.model) = (root, prefix, noun, model)
    (self.whole, self.isContained) = (whole, isContained)
  }

  /// The option that names the model, with a space before it; empty where none was named.
  func modelOption(_ option: String) -> String {
    model.map { " \(option) \(ShellText.quoted($0))" } ?? ""
  }

  /// Why nothing is written into it.
  var refusal: String { "\(noun) is never modified" }

  /// Where the copy is of what the person calls by a path.
  func path(of store: String) -> String {
    guard store.utf8.starts(with: prefix.utf8) else { return store }
    return root + "/" + String(decoding: store.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// What the person calls a path: one of a copy is gone before it can be typed.
  func named(_ path: String) -> String {
    guard path.utf8.starts(with: (root + "/").utf8) else { return path }
    return prefix
      + String(decoding: path.utf8.dropFirst(root.utf8.count + 1), as: UTF8.self)
  }
}
