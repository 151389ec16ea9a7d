import ManagedModel

/// What is counted on the way.
struct ConversionTally {
  var objects: [String: Int] = [:]
  var unknownEntities: [String: Int] = [:]
  var unknownProperties: Set<String> = []
  var unfit: [String: Int] = [:]
  var unfitLinks: [String: Int] = [:]
  var oneSided: [String: Int] = [:]
  var archived: [String: (count: Int, isArchived: Bool, attribute: Attribute)] = [:]
  var classes: [String: Int] = [:]

  var losses: [String] {
    unknownEntities.sorted { $0.key < $1.key }.map {
      "\(NumberText.counted($0.value, "object")) of \($0.key) left out: the model has no such entity."
    }
      + (unknownProperties.isEmpty
        ? []
        : [
          "Left out, since the model has no such property: \(Self.list(unknownProperties.sorted()))."
        ])
      + unfit.sorted { $0.key < $1.key }.map {
        "\(NumberText.counted($0.value, "value")) of \($0.key) \($0.value == 1 ? "does" : "do") not fit the attribute's type, and \($0.value == 1 ? "is" : "are") kept as text."
      }
      + unfitLinks.sorted { $0.key < $1.key }.map {
        "\(NumberText.counted($0.value, "reference")) of \($0.key) to objects of another entity left out."
      }
  }

  var warnings: [String] {
    oneSided.sorted { $0.key < $1.key }.map {
      "\(NumberText.counted($0.value, "reference")) of \($0.key) \($0.value == 1 ? "is" : "are") missing on the other side: kept where that side names no other object."
    }
  }

  var notes: [String] {
    archived.sorted { $0.key < $1.key }.map { name, entry in
      "\(NumberText.counted(entry.count, "value")) of \(name) archived by NSKeyedArchiver."
        + (entry.isArchived
          ? ""
          : " The app's transformer \(entry.attribute.valueTransformerName ?? "") may expect another form.")
    }
      + (classes.isEmpty
        ? []
        : [
          "Core Data refuses the store as it is: it has objects of \(Self.list(classes.keys.sorted())), which the app has to name in NSBinaryStoreSecureDecodingClasses."
        ])
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(5).joined(separator: ", ")
      + (names.count > 5 ? " and \(names.count - 5) more" : "")
  }
}

extension AtomicModel {
  /// What is to be known of the model that the store is read with.
  func notes(of contents: AtomicContents) -> [String] {
    switch source {
    case .given: return []
    case .rebuilt where contents.form == .binary:
      return [
        "A binary store has no names of attributes: they are shown as #0, #1 and so on. Give its model with --model."
      ]
    case .rebuilt(let proved):
      let all = contents.entityNames
      return [
        proved.count == all.count
          ? "The model is made of the objects, and has the hash of every entity that the store states."
          : "The model is made of the objects: its hash is the store's for \(proved.count) of \(NumberText.counted(all.count, "entity", plural: "entities")). What of the rest is optional, inherited, or empty everywhere is not known. Give the model with --model."
      ]
    }
  }
}
