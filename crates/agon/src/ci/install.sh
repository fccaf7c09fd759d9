curl --fail --silent --show-error --location --output "$HOME/agon.tar.gz" "$AGON_ARCHIVE"
echo "$AGON_SHA256  $HOME/agon.tar.gz" | sha256sum --check
mkdir -p "$HOME/.local/agon"
tar -xzf "$HOME/agon.tar.gz" -C "$HOME/.local/agon" --strip-components=1
