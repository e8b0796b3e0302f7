# trailblaze with the headless shell of Chromium, for replaying trails in CI. GoReleaser builds it from the binaries of a
# release; `make image` builds it from a checkout. Run it with a project: docker run -v "$PWD:/work" IMAGE run
FROM debian:bookworm-slim

RUN apt-get update \
	&& apt-get install -y --no-install-recommends \
		ca-certificates chromium-headless-shell fonts-liberation fonts-noto-color-emoji git tini \
	&& rm -rf /var/lib/apt/lists/* \
	&& useradd --create-home --uid 1000 trailblaze

# The folder of the binary in the build context: linux/amd64 or linux/arm64, which buildx sets.
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/trailblaze /usr/local/bin/trailblaze

USER trailblaze
WORKDIR /work
# tini is the parent of browser processes whose own parent ended, which would stay zombies otherwise.
ENTRYPOINT ["tini", "--", "trailblaze"]
CMD ["--help"]
