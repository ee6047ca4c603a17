# The server as one static binary on an empty image. It needs no shell, no root and no writable file system besides /data.
#
#   docker build -t onefold --build-arg VERSION=$(git describe --tags --always) --build-arg COMMIT=$(git rev-parse HEAD) .
#   docker run --read-only --tmpfs /tmp -v onefold:/data -p 127.0.0.1:8080:8080 onefold

# scripts/check-vulnerabilities judges the standard library of this version.
FROM golang:1.26.11-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The repository is not copied: what "onefold version" and the page of the servers say must be told.
ARG VERSION=
ARG COMMIT=
RUN CGO_ENABLED=0 go build -trimpath -o /out/onefold \
      -ldflags="-s -w -X onefold/internal/telemetry.version=$VERSION -X onefold/internal/telemetry.commit=$COMMIT" ./cmd/server \
 && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /usr/local/go/lib/time/zoneinfo.zip /zoneinfo.zip
COPY --from=build /out/onefold /onefold
COPY --from=build --chown=65532:65532 /out/data /data

USER 65532:65532
ENV ZONEINFO=/zoneinfo.zip \
    ONEFOLD_DATA=/data \
    ONEFOLD_LISTEN=:8080
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/onefold", "health"]
ENTRYPOINT ["/onefold"]
CMD ["serve"]
