import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A fresh demo store in a folder that goes away.
final class InterfaceDemo {
  let folder: String
  /// Where the store and its versions are.
  let place: String
  var store: String { place + "/Recipes.sqlite" }

  /// - Parameter place: where the store is to be; else in the folder.
  init(objects: Int = 5000, in place: String? = nil) {
    var template = Array("/tmp/strata-e2e-XXXXXX".utf8CString)
    folder = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp/strata-e2e"
    self.place = place ?? folder + "/demo"
    Shell.run("'\(Shell.strata)' demo '\(self.place)' --objects \(objects) --no-open")
  }

  /// The interface on the store.
  func open(width: Int = 100, height: Int = 30, store: String? = nil) -> TmuxTerminal {
    TmuxTerminal(
      width: width, height: height, folder: folder, "'\(Shell.strata)' '\(store ?? self.store)'")
  }

  /// Names, sizes and contents of everything in the store's folder.
  var fingerprint: String {
    Shell.output(
      of:
        "cd '\(place)' && find . -type f | sort | xargs -d '\\n' cksum && ls -lA --time-style=full-iso",
      through: folder + "/sum")
  }

  /// The store's bytes, as a sum.
  var sum: String {
    Shell.output(of: "cksum < '\(store)'", through: folder + "/store-sum")
  }

  /// Names in the store's folder.
  var names: String {
    Shell.output(of: "ls -A '\(place)'", through: folder + "/names")
  }

  /// The names once one that begins so is gone; as they are when ``Patience`` ends otherwise.
  func names(without prefix: String) -> String {
    var text = ""
    Patience.wait {
      text = names
      return !text.contains(prefix)
    }
    return text
  }

  deinit { Shell.run("rm -rf '\(folder)'") }
}

extension TmuxTerminal {
  /// Goes to Migrate and starts; with a pause before the cut-over it waits there.
  func migrate(pausing: Bool) -> String {
    send("4")
    _ = screen(showing: "asks, then migrates")
    if pausing {
      send("p")
      _ = screen(showing: "It asks again before the cut-over")
    }
    askToMigrate()
    send("y")
    return pausing
      ? screen(showing: "is not replaced yet", "y replace the store", "On disk") : screen
  }

  /// Presses Enter on Migrate and waits until the question can be answered.
  func askToMigrate() {
    send("Enter")
    _ = screen(showing: "Migrate Recipes.sqlite?", "On disk")
  }
}
