# The server in a container: one volume holds everything, and nothing runs as root.
#
#   docker build -t hwci .
#   docker run -p 8080:8080 -v hwci-data:/data hwci
#   docker exec CONTAINER hwci admin backup /data/backup.db

FROM python:3.13-slim-trixie AS build
RUN python -m venv /opt/hwci
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY hwci ./hwci
RUN /opt/hwci/bin/pip install --no-cache-dir --disable-pip-version-check ".[server,postgres,valkey]"

FROM python:3.13-slim-trixie
LABEL org.opencontainers.image.title="hwci" \
      org.opencontainers.image.description="Metrics for hardware-in-the-loop CI" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 hwci \
 && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home hwci \
 && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/hwci /opt/hwci
ENV PATH="/opt/hwci/bin:$PATH" \
    PYTHONUNBUFFERED=1 \
    HWCI_DATABASE=/data/hwci.db
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["hwci"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
